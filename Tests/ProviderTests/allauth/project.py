"""The URLs of the project of `server.py`: the accounts' pages of allauth, and its provider."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("", include("allauth.idp.urls")),
]
