// Usage: node build.mjs VERSION, in a folder with plotly.js and esbuild in node_modules and the files beside this one.
// Writes bundle.js and parts.json (the packages whose code is in it).  Left out, beside the parts that entry.js does
// not name: the texts of Plotly's schema (its help), colours that CSS does not know, and the bar of buttons over a
// chart, which the pages never show and which could send a chart to another server.
import { writeFileSync, readFileSync } from "node:fs";
import { build } from "esbuild";

// A text, or a list of texts joined, alone: whatever is put together from more stays as it is.
const TEXT = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`$]*`/.source;
const LIST = String.raw`\[(?:\s|,|\+|//[^\n]*|${TEXT})*\]\s*\.join\([^)\n]*\)`;
const HELP = new RegExp(String.raw`\bdescription\s*:\s*(?:${LIST}|(?:${TEXT})(?:\s*\+\s*(?:${TEXT}))*)(?=\s*[,}])`, "g");
const smaller = {
  name: "smaller",
  setup(on) {
    on.onResolve({ filter: /^culori$/ }, () => ({ path: `${process.cwd()}/colours.js` }));
    on.onLoad({ filter: /plotly\.js\/src\/.*\.js$/ }, ({ path }) => {
      if (path.endsWith("/components/modebar/buttons.js")) return { contents: "module.exports = {};" };
      const text = readFileSync(path, "utf8").replace(HELP, "description: 0");
      const bar = path.endsWith("/components/modebar/index.js");
      return { contents: bar ? text.replace("require('./manage')", "() => {}") : text };
    });
  },
};
const made = await build({
  entryPoints: ["entry.js"], plugins: [smaller], bundle: true, minify: true, format: "iife", globalName: "Plotly",
  target: "es2020", loader: { ".css": "empty" }, alias: { stream: "stream-browserify" }, legalComments: "none",
  define: { global: "window", "define.amd": "false", "process.env.NODE_DEBUG": "false" }, metafile: true, write: false,
  banner: { js: `/*! plotly.js v${process.argv[2]} | MIT | scatter and bar, built by scripts/vendor.py */` },
});
const [inputs] = Object.values(made.metafile.outputs).map((output) => output.inputs);
const used = Object.keys(inputs).filter((path) => inputs[path].bytesInOutput && !path.endsWith(".css"));
const names = used.map((path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[0]).filter(Boolean);
writeFileSync("parts.json", JSON.stringify([...new Set(names)].sort()));
writeFileSync("bundle.js", made.outputFiles[0].contents);
