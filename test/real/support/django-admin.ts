import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RealServer, startServer } from './real-server.ts';

/** What Debian's package `python3-django` installs. */

export const OPERATOR = { username: 'ada', password: 'open & shut 1' };
/** A user without any permission. */
export const MEMBER = { username: 'member07', password: 'member 07' };

/** Django's own administration pages over its users and groups, on SQLite in a folder of its own. All of it is Django's code. */
export function startDjangoAdmin(): Promise<RealServer> {
    return startServer({
        run: { program: '/usr/bin/python3' },
        readyPath: '/admin/login/',
        isOf: (line, request) => line.includes(`"${request} HTTP/`),
        prepare(folder, port) {
            writeFileSync(join(folder, 'settings.py'), SETTINGS);
            writeFileSync(join(folder, 'pages.py'), PAGES);
            writeFileSync(join(folder, 'serve.py'), SERVE);
            return [join(folder, 'serve.py'), `127.0.0.1:${port}`];
        },
    });
}

const SETTINGS = `
from pathlib import Path
SECRET_KEY = 'for tests on loopback alone'
ALLOWED_HOSTS = ['*']
INSTALLED_APPS = ['django.contrib.' + name for name in ('admin', 'auth', 'contenttypes', 'sessions', 'messages')]
MIDDLEWARE = [
    'django.contrib.sessions.middleware.SessionMiddleware',
    'django.middleware.common.CommonMiddleware',
    'django.middleware.csrf.CsrfViewMiddleware',
    'django.contrib.auth.middleware.AuthenticationMiddleware',
    'django.contrib.messages.middleware.MessageMiddleware',
]
ROOT_URLCONF = 'pages'
TEMPLATES = [{
    'BACKEND': 'django.template.backends.django.DjangoTemplates',
    'APP_DIRS': True,
    'OPTIONS': {'context_processors': [
        'django.template.context_processors.request',
        'django.contrib.auth.context_processors.auth',
        'django.contrib.messages.context_processors.messages',
    ]},
}]
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': Path(__file__).parent / 'db.sqlite3'}}
STATIC_URL = '/static/'
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
`;

const PAGES = `
from django.contrib import admin
from django.urls import path
urlpatterns = [path('admin/', admin.site.urls)]
`;

/** A background command ignores SIGINT unless it asks for it. */
const SERVE = `
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ['DJANGO_SETTINGS_MODULE'] = 'settings'
import django
from django.core.management import call_command
django.setup()
call_command('migrate', verbosity=0)
from django.contrib.auth.models import Group, User
User.objects.create_superuser('${OPERATOR.username}', 'ada@people.example', '${OPERATOR.password}')
User.objects.create_user('${MEMBER.username}', '', '${MEMBER.password}')
User.objects.bulk_create(User(username=f'guest{number:03}') for number in range(150))
Group.objects.create(name='Readers')
call_command('runserver', sys.argv[1], use_reloader=False)
`;
