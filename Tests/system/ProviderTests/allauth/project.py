"""The URLs of the Django project of `server.py`: allauth's account pages and its provider."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("", include("allauth.idp.urls")),
]
