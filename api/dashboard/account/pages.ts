import { openPage, personalPage } from '../page.ts';
import { ACCESS_PATH, showAccess } from './access.ts';
import { confirmByForm, mailCode, showConfirm } from './confirm.ts';
import { sendVerifyLink, showVerify, verifyByForm } from './links.ts';
import { showPasskeySignIn, signInByPasskey } from './passkey.ts';
import { forgotByForm, resetByForm, showForgot, showReset } from './reset.ts';
import { giveFactor } from './second-step.ts';
import { changeAddressByForm, changePasswordByForm, deleteByForm, endOneSession, endOtherSessions, showSettings } from './settings.ts';
import { showSignIn, signInByForm, signOutByForm } from './sign-in.ts';
import { showSignUp, signUpByForm } from './sign-up.ts';

/** Pages for signing up and in, sessions, account settings, and deleting the account. */
export const accountPages = [
    openPage({ method: 'GET', path: '/signup', respond: showSignUp }),
    openPage({ method: 'POST', path: '/signup', respond: signUpByForm }),
    openPage({ method: 'GET', path: '/login', respond: showSignIn }),
    openPage({ method: 'POST', path: '/login', queuesElsewhere: true, respond: signInByForm }),
    openPage({ method: 'POST', path: '/login/factor', respond: giveFactor }),
    openPage({ method: 'GET', path: '/login/passkey', respond: showPasskeySignIn }),
    openPage({ method: 'POST', path: '/login/passkey', respond: signInByPasskey }),
    openPage({ method: 'POST', path: '/logout', worksWithoutFactor: true, respond: signOutByForm }),
    openPage({ method: 'GET', path: '/verify', worksWithoutFactor: true, respond: showVerify }),
    openPage({ method: 'POST', path: '/verify', worksWithoutFactor: true, respond: verifyByForm }),
    personalPage({ method: 'POST', path: '/verify/send', respond: sendVerifyLink }),
    openPage({ method: 'GET', path: '/forgot', respond: showForgot }),
    openPage({ method: 'POST', path: '/forgot', respond: forgotByForm }),
    openPage({ method: 'GET', path: '/reset', respond: showReset }),
    openPage({ method: 'POST', path: '/reset', respond: resetByForm }),
    personalPage({ method: 'GET', path: '/dashboard/confirm', worksWithoutFactor: true, respond: showConfirm }),
    personalPage({ method: 'POST', path: '/dashboard/confirm', worksWithoutFactor: true, respond: confirmByForm }),
    personalPage({ method: 'POST', path: '/dashboard/confirm/code', worksWithoutFactor: true, respond: mailCode }),
    personalPage({ method: 'GET', path: '/dashboard/settings', respond: showSettings }),
    personalPage({ method: 'GET', path: ACCESS_PATH, respond: showAccess }),
    personalPage({ method: 'POST', path: '/dashboard/settings/password', respond: changePasswordByForm }),
    personalPage({ method: 'POST', path: '/dashboard/settings/address', respond: changeAddressByForm }),
    personalPage({ method: 'POST', path: '/dashboard/settings/sessions', respond: endOtherSessions }),
    personalPage({ method: 'POST', path: '/dashboard/settings/sessions/{session_id}/end', respond: endOneSession }),
    personalPage({ method: 'POST', path: '/dashboard/settings/delete', respond: deleteByForm }),
];
