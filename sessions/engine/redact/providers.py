"""What keys and tokens look like by themselves: the beginnings that their providers give them."""

from __future__ import annotations

import re

from sessions.engine.redact.kinds import EDGE, KEYS, TOKENS, pattern

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_KEYS = {
    # With a figure near its start, or in one piece that no word is as long as.
    "sk- sk_": (
        r"sk[-_](?:ant-|proj-|svcacct-|admin-|or-v1-|lf-|live[-_])?"
        r"(?:(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,400}|[A-Za-z0-9]{32}[A-Za-z0-9_-]{0,400})"
    ),
    "aiza": r"AIza[0-9A-Za-z_-]{35}",
    "aqvn": r"AQVN[A-Za-z0-9_-]{35,38}",
    "a3t akia asia abia acca aroa aida agpa": (
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    ),
    "absk": r"ABSK[A-Za-z0-9+/]{80,400}={0,2}",
    "fwogzxivyxdz iqojb3jpz2lu": r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{60,4000}",
    "k_live_ k_test_ whsec_": r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9+/]{16,200}={0,2}",
    "sg.": r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
    "gsk_ xai- pplx- r8_ fw_ tvly- lsv2_": (r"(?:gsk_|xai-|pplx-|r8_|fw_|tvly-|lsv2_(?:pt|sk)_)[A-Za-z0-9_-]{24,200}"),
    "csk- nvapi- pcsk_ jina_ hcaik_ hcxik_ hcaic_ phx_ phc_ pnu_ pnb_ sgp_ ddp_ bkua_ tk-us- phs_ fc-": (
        r"(?:csk-|nvapi-|pcsk_|jina_|hca?xi?k_|hcaik_|hcaic_|phx_|phc_|phs_|pnu_|pnb_|sgp_|ddp_|bkua_|tk-us-|fc-)"
        r"(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{24,200}"
    ),
    "key- pubkey-": r"key-[0-9a-f]{32}(?![0-9a-f])",
    "-us": r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])",
    "pmak- nrak- nrjs- nrii- nral-": r"(?:PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NR(?:AK|JS|II|AL)-[A-Za-z0-9_-]{19,36})",
    "age-secret-key-": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "lin_ ntn_ figd_ rnd_ sbp_ figo_": (r"(?:lin_(?:api|oauth)_|ntn_|fig[do]_|rnd_|sbp_)[A-Za-z0-9_-]{24,200}"),
    "sb_secret_": r"sb_secret_[A-Za-z0-9_-]{20,100}",
    "dapi": r"dapi[a-f0-9]{32}(?:-[0-9])?",
    "hrku-": r"HRKU-[A-Za-z0-9_-]{36,100}",
    "sntrys_ sntryu_": r"sntry[su]_[A-Za-z0-9+/=_-]{40,400}",
    "ltai": r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])",
    "akc cmvmd 4b1d": r"(?:AKC[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59}|4b1d[A-Za-z0-9]{38})(?![A-Za-z0-9])",
    "q~": r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
    "a3-": r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9])",
    "rzp_ shippo_ duffel_ easypost_ ezak eztk": (
        r"(?:rzp_(?:live|test)_[A-Za-z0-9]{14,24}|shippo_(?:live|test)_[a-f0-9]{40}"
        r"|duffel_(?:live|test)_[A-Za-z0-9_-]{43}|EZ[AT]K[A-Za-z0-9]{54})"
    ),
    "flwpubk flwseck": r"FLW(?:PUBK|SECK)(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?",
    "xkeysib- xsmtpsib-": r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    "p8e- tly- ico-": r"(?:p8e-[a-z0-9]{32}|ico-[A-Za-z0-9]{32})(?![A-Za-z0-9])",
    "api-": r"(?:API-[A-Z0-9]{25,34}|api-" + _UUID + r")(?![A-Za-z0-9-])",
    "sdk- mob- rgapi- secret-live- secret-test-": rf"(?:sdk|mob|RGAPI|secret-(?:live|test))-{_UUID}",
    "oy2": r"oy2[a-z0-9]{43}(?![a-z0-9])",
    "xprv": r"[xyz]prv[A-Za-z0-9]{100,115}",
    "v1.0-": r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}",
}
_TOKENS = {
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_": r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    "glpat- gldt- glrt glo gls glptt- glcbt- glft- glimt- glagent- glffct- gr1348941": (
        r"(?:gl(?:pat|dt|rt|oas|soat|ptt|cbt|ft|imt|agent|ffct|rtr)-[A-Za-z0-9_.-]{20,300}|GR1348941[A-Za-z0-9_-]{20})"
    ),
    "xox xapp-": r"(?:xox[abeoprsd]|xapp|xoxe\.xox[bp])-(?=[A-Za-z-]{0,40}[0-9])[A-Za-z0-9-]{10,300}",
    "hf_ npm_ pypi- dop_v1_ dor_v1_ doo_v1_ api_org_": (
        r"(?:hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{34}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,400}|do[opr]_v1_"
        r"[a-f0-9]{64})"
    ),
    "eyj": r"eyJ[A-Za-z0-9_-]{8,8000}\.eyJ[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,8000})?",
    "ops_eyj": r"ops_eyJ[A-Za-z0-9+/_-]{40,4000}={0,3}",
    "pk.eyj": r"[ps]k\.eyJ[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{20,100}",
    "shp": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "sq0 eaaa": r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}|EAAA[A-Za-z0-9_-]{60})",
    "hvs. hvb. hvr.": r"hv[sbr]\.[A-Za-z0-9_-]{24,400}",
    "atlasv1.": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,100}",
    "glsa_ glc_": r"(?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/=]{32,400})",
    "eyjrijoi": r"eyJrIjoi[A-Za-z0-9]{40,400}={0,2}",
    "dp.": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,100}",
    "pscale_": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}",
    "fo1_ fm1": r"(?:fo1_|fm1[ar]_)[A-Za-z0-9+/=_-]{40,400}",
    "fm2_": r"fm2_[A-Za-z0-9+/=_-]{40,400}",
    "rubygems_": r"rubygems_[a-f0-9]{48}",
    "dckr_": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64}",
    "atatt3 atctt3 atbb atta": r"(?:AT[AC]TT3[A-Za-z0-9_=-]{100,300}|ATBB[A-Za-z0-9_=]{24,40}|ATTA[a-f0-9]{60,80})",
    "gocspx-": r"GOCSPX-[A-Za-z0-9_-]{28}",
    "ya29.": r"ya29\.[A-Za-z0-9_-]{40,400}",
    "1//0 4/0a": r"(?:1//0|4/0A)[A-Za-z0-9_-]{40,150}",
    # The settings of docker, which begin with "auths", in base64.
    "eyjhdxro": r"eyJhdXRo[A-Za-z0-9+/_-]{20,8000}={0,2}",
    "nfp_ vcp_ vci_ vca_ vcr_ vck_": r"(?:nfp_[A-Za-z0-9]{36}|vc[piark]_[A-Za-z0-9]{24,64})",
    ":aa": r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
    "sl.": r"sl\.(?:u\.|B)?[A-Za-z0-9_-]{100,400}",
    "ccipat_ cciprj_": r"CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,100}",
    "tskey-": r"tskey-[a-z]{3,10}-[A-Za-z0-9_-]{16,100}",
    "squ_ sqp_ sqa_": r"sq[upa]_[a-f0-9]{40}",
    "clojars_": r"CLOJARS_[a-z0-9]{60}",
    "pul-": r"pul-[a-f0-9]{40}",
    "cfpat- pat-na pat-eu": r"(?:CFPAT-[A-Za-z0-9_-]{43}|pat-(?:na|eu)[0-9]-" + _UUID + ")",
    "dt0": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "sha256~": r"sha256~[A-Za-z0-9_-]{43}",
    "access-": rf"access-(?:sandbox|development|production)-{_UUID}",
    "access_token$": r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    "rdme_ slk_": r"(?:rdme_[a-z0-9]{70}|slk_[a-f0-9]{64})",
    "tfp_ sm_": r"(?:tfp_[A-Za-z0-9_.=-]{40,80}|sm_(?:pat|aat|sat)_[A-Za-z0-9]{16})",
    "eaa": r"EAA[MC]?[A-Za-z0-9]{60,400}",
    "mfa.": r"mfa\.[A-Za-z0-9_-]{80,95}",
    "mdb_sa_sk_": r"mdb_sa_sk_[A-Za-z0-9_-]{30,60}",
    "fio-u-": r"fio-u-[A-Za-z0-9_=-]{64}",
    "aio_": r"aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])",
    "amzn1.": r"amzn1\.(?:oa2-cs\.v1\.[a-f0-9]{64}|[a-z]{2,12}\.[A-Za-z0-9._-]{30,400})",
    ".acc- .acc_": (
        r"(?:scauth|sc|ext|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"
    ),
}

_EMPTY = re.compile(r"(?i)x{6}|AKIA[A-Z0-9]{9}EXAMPLE\\Z|sk-(?:your|my|the|some)-[a-z-]*\\Z")


def _filled(found: str) -> bool:
    """Whether it is no pattern of a key, as documents have it: ghp_xxxxxxxx."""
    return _EMPTY.search(found) is None


PROVIDERS = (
    *(pattern(KEYS, hints, EDGE + regex, holds=_filled) for hints, regex in _KEYS.items()),
    *(pattern(TOKENS, hints, EDGE + regex, holds=_filled) for hints, regex in _TOKENS.items()),
    pattern(KEYS, "softlayer.com/", r"softlayer\.com/(?:soap|rest)/v[0-9.]{1,4}/([a-z0-9]{32,64})", group=1),
    pattern(
        TOKENS, "hooks.slack.com",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,120})",
        group=1, any_case=True,
    ),
    pattern(
        TOKENS, "/api/webhooks/",
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/([0-9]{15,20}/[A-Za-z0-9_-]{40,100})",
        group=1,
    ),
    pattern(TOKENS, "webhook.office.com", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,200})", group=1),
    *(
        pattern(kind, hints, EDGE + regex, near=regex.partition("(?=")[0] + after)
        for kind, hints, regex, after in (
            (TOKENS, "s.", r"s\.(?=[A-Za-z]{0,12}[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9.(_-])", "[A-Za-z0-9]{24}"),
            (TOKENS, "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", ""),
            (KEYS, "sk ac", r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", ""),
            (
                KEYS,
                "re_",
                r"re_(?=[A-Za-z_]{0,12}[0-9])[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9])",
                "[A-Za-z0-9]{8}_",
            ),
        )
    ),
    pattern(
        TOKENS, ".",
        EDGE + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_.-])",
        near=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
    ),
)  # fmt: skip
