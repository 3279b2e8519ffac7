"""The additions of the project of `server.py` to django-oauth-toolkit: its URLs, and its claims about a user."""

from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path
from oauth2_provider.oauth2_validators import OAuth2Validator

urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    # This page also asks a user who is already signed in, as prompt=login requires; the admin's own page would redirect
    # such a user.
    path("login/", LoginView.as_view(template_name="admin/login.html")),
    path("admin/", admin.site.urls),
]


class Validator(OAuth2Validator):
    """Adds claims about the user: by default the toolkit returns only `sub`."""

    oidc_claim_scope = {"sub": "openid", "name": "profile", "email": "email"}

    def get_additional_claims(self, request):
        return {"name": request.user.get_full_name(), "email": request.user.email}

    # Without these methods, the toolkit answers prompt=none with status 500.

    def validate_silent_login(self, request):
        return request.user is not None and request.user.is_authenticated

    def validate_silent_authorization(self, request):
        return True
