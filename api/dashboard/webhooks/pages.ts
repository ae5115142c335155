import { MANAGERS, workspacePage } from '../page.ts';
import { changeByForm, createByForm, deleteByForm, redeliverByForm, rotateByForm, setEnabled, testByForm } from './forms.ts';
import { listWebhooks, showWebhook } from './show.ts';

const ONE = '/dashboard/webhooks/{webhook_id}';
/** Options of actions that send events elsewhere or show a secret. They require a recent sign-in. */
const CONFIRMED = { method: 'POST', audience: MANAGERS, needsRecentSignIn: true } as const;
const FORM = { method: 'POST', audience: MANAGERS } as const;

export const webhookPages = [
    workspacePage({ method: 'GET', path: '/dashboard/webhooks', audience: MANAGERS, respond: (visit) => listWebhooks(visit) }),
    workspacePage({ ...CONFIRMED, path: '/dashboard/webhooks', respond: createByForm }),
    workspacePage({ method: 'GET', path: ONE, audience: MANAGERS, respond: (visit) => showWebhook(visit) }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/edit`, respond: changeByForm }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/rotate`, respond: rotateByForm }),
    workspacePage({ ...FORM, path: `${ONE}/enable`, respond: (visit) => setEnabled(visit, true) }),
    workspacePage({ ...FORM, path: `${ONE}/disable`, respond: (visit) => setEnabled(visit, false) }),
    workspacePage({ ...FORM, path: `${ONE}/test`, respond: testByForm }),
    workspacePage({ ...FORM, path: `${ONE}/delete`, respond: deleteByForm }),
    workspacePage({ ...FORM, path: `${ONE}/deliveries/{delivery_id}/redeliver`, respond: redeliverByForm }),
];
