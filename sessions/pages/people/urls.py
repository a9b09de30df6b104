"""URLs of the people of a team: who is here, how one comes and goes, and who sees a session."""

from __future__ import annotations

from django.urls import path

from sessions.pages.people import view

urlpatterns = [
    path("people/", view.people, name="people"),
    path("people/invite/", view.invite, name="invite"),
    path("people/invitations/<int:invitation_id>/withdraw/", view.withdraw, name="invitation_withdraw"),
    path("people/<int:user_id>/role/", view.role, name="person_role"),
    path("people/<int:user_id>/remove/", view.remove, name="person_remove"),
    path("s/<str:session_id>/who/", view.who, name="who"),
]
