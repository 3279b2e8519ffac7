"""django-oauth-toolkit as a program: `server.py DIRECTORY PORT`, with DIRECTORY/seed.json.

The URLs of the Django project are in `project.py`. The first start makes and fills the database; later starts
keep the database.
"""

import json
import sys
from pathlib import Path

import django
from django.conf import settings

APPS = ["admin", "auth", "contenttypes", "sessions", "messages"]


def configure(directory, port, seed):
    settings.configure(
        SECRET_KEY="0123456789abcdef0123456789abcdef",
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        ROOT_URLCONF="project",
        USE_TZ=True,
        STATIC_URL="/static/",
        LOGIN_URL="/login/",
        INSTALLED_APPS=[*(f"django.contrib.{app}" for app in APPS), "oauth2_provider"],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        # Without the last two settings, parallel requests fail with "database is locked".
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": directory / "db.sqlite3",
                "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
            }
        },
        # Tables without migrations, and a fast hash for passwords: with them, this program starts in two seconds
        # instead of ten.
        MIGRATION_MODULES={app: None for app in [*APPS, "oauth2_provider"]},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": seed["key"],
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
            "OAUTH2_VALIDATOR_CLASS": "project.Validator",
            "PKCE_REQUIRED": True,
            "SCOPES": {"openid": "who you are", "profile": "your name", "email": "your address", "api": "the API"},
            "DEFAULT_SCOPES": ["openid"],
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https", "com.example.app"],
            "ALLOWED_SCHEMES": ["http", "https", "com.example.app"],
            "ACCESS_TOKEN_EXPIRE_SECONDS": seed["tokenSeconds"],
            "ROTATE_REFRESH_TOKEN": True,
            "REFRESH_TOKEN_REUSE_PROTECTION": True,
            # For this many seconds a request with a spent refresh token gets the same tokens again, with a new id_token
            # whose at_hash belongs to an access token that was never returned.
            "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": seed["graceSeconds"],
            "DEVICE_FLOW_INTERVAL": 1,
            "OAUTH_DEVICE_VERIFICATION_URI": f"http://127.0.0.1:{port}/o/device/",
        },
    )
    django.setup()


def fill(seed):
    from django.contrib.auth.models import User
    from oauth2_provider.models import Application

    for user in seed["users"]:
        User.objects.create_user(user["name"], user["email"], user["password"], first_name=user["name"])
    for client in seed["clients"]:
        Application.objects.create(name=client["client_id"], algorithm="RS256", skip_authorization=True, **client)


def main(directory, port):
    from django.core.management import call_command

    directory = Path(directory)
    seed = json.loads((directory / "seed.json").read_text())
    is_fresh = not (directory / "db.sqlite3").exists()
    configure(directory, port, seed)
    if is_fresh:
        call_command("migrate", run_syncdb=True, verbosity=0)
        fill(seed)
    call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
