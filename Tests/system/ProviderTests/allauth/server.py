"""django-allauth's OpenID provider as a program: `server.py DIRECTORY PORT`, with DIRECTORY/seed.json.

The URLs of the Django project are in `project.py`. The first start makes and fills the database; later starts keep it.
Registration of clients is open (RFC 7591). Introspection names the resource of a token (RFC 8707).
"""

import json
import sys
from pathlib import Path

import django
from django.conf import settings

DJANGO_APPS = ["auth", "contenttypes", "sessions", "messages", "sites"]
# Django apps by their labels. A label is a part of the names of the app's tables.
ALLAUTH_APPS = {"allauth": "allauth", "account": "allauth.account", "allauth_idp_oidc": "allauth.idp.oidc"}


def configure(directory, seed):
    settings.configure(
        SECRET_KEY="0123456789abcdef0123456789abcdef",
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        ROOT_URLCONF="project",
        SITE_ID=1,
        USE_TZ=True,
        STATIC_URL="/static/",
        INSTALLED_APPS=[*(f"django.contrib.{app}" for app in DJANGO_APPS), *ALLAUTH_APPS.values()],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
        ],
        AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
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
        # The tables are made without migrations, and passwords get a hash that is fast to compute.
        MIGRATION_MODULES={app: None for app in [*DJANGO_APPS, *ALLAUTH_APPS]},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ACCOUNT_RATE_LIMITS=False,
        IDP_OIDC_PRIVATE_KEY=seed["key"],
        IDP_OIDC_RATE_LIMITS=False,
        IDP_OIDC_DCR_ENABLED=True,
        IDP_OIDC_DCR_REQUIRES_INITIAL_ACCESS_TOKEN=False,
        IDP_OIDC_INTROSPECTION_ENABLED=True,
        # This setting lets the resource introspect the tokens of the apps.
        IDP_OIDC_INTROSPECTION_CROSS_CLIENT_ALLOWED=True,
    )
    django.setup()


def fill(seed):
    from allauth.account.models import EmailAddress
    from allauth.idp.oidc.models import Client
    from django.contrib.auth.models import User

    for person in seed["users"]:
        user = User.objects.create_user(person["name"], person["email"], person["password"], first_name=person["name"])
        EmailAddress.objects.create(user=user, email=person["email"], verified=True, primary=True)
    for attributes in seed["clients"]:
        secret, logout_redirects = attributes.pop("secret"), attributes.pop("post_logout_redirect_uris")
        client = Client(**{name: "\n".join(value) if isinstance(value, list) else value for name, value in attributes.items()})
        client.set_post_logout_redirect_uris(logout_redirects)
        if secret is not None:
            client.set_secret(secret)
        client.save()


def main(directory, port):
    from django.core.management import call_command

    directory = Path(directory)
    seed = json.loads((directory / "seed.json").read_text())
    is_fresh = not (directory / "db.sqlite3").exists()
    configure(directory, seed)
    if is_fresh:
        call_command("migrate", run_syncdb=True, verbosity=0)
        fill(seed)
    call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
