import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { WebhookEntry } from '../../shared/contracts/webhooks.ts';
import { recordEvent } from '../../shared/store/events/events.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { installPublished, type PythonClient } from '../support/python.ts';
import { dataOf } from '../support/routes.ts';
import { openSite, type Seen, type Site } from '../support/sites.ts';
import { needs, noteMissing } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

/** Reads `{secret, headers, body}` and prints the verified event, or why it is refused. */
const VERIFY = `
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
try:
    print(json.dumps({'event': Webhook(given['secret']).verify(given['body'], given['headers'])}))
except WebhookVerificationError as error:
    print(json.dumps({'refused': str(error)}))
`;

type Verified = { event: { type: string; data: object } } | { refused: string };
type Delivery = Pick<Seen, 'headers' | 'body'>;

describe('a webhook, verified by the published libraries of Standard Webhooks', () => {
    let folder: string;
    let python: PythonClient | undefined;
    let world: World;
    let site: Site;
    let ada: Person;
    let webhook: WebhookEntry & { secret: string };

    before(async function () {
        needs(this, 'python');
        folder = mkdtempSync(joinPath(tmpdir(), 'routebook-webhooks-'));
        python = await installPublished(folder, 'standardwebhooks>=1,<2');
        if (python === undefined) noteMissing('the Python package standardwebhooks');
        site = await openSite((_request, response) => void response.writeHead(204).end());
        world = await openWorld();
        ada = await join(world);
        const body = { url: `http://127.0.0.1:${site.port}/hook`, events: ['key.revoked'] };
        webhook = dataOf(await ada.call('POST', '/v1/webhooks', { body }));
    });
    after(async () => {
        await world?.close();
        await site?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true });
    });

    const deliver = async (name: string): Promise<Delivery> => {
        const known = site.seen.length;
        await recordEvent(world.app.db, { type: 'key.revoked', workspaceId: ada.workspaceId, data: { name } });
        await eventually(
            async () => site.seen.length,
            (count) => count > known,
            60_000,
        );
        return site.seen[known] ?? expect.fail('nothing came');
    };

    const byJavaScript = async (secret: string, { headers, body }: Delivery): Promise<Verified> => {
        try {
            return { event: new Webhook(secret).verify(body, headers as Record<string, string>) as { type: string; data: object } };
        } catch (error) {
            return { refused: (error as Error).message };
        }
    };
    const byPython = async (secret: string, { headers, body }: Delivery): Promise<Verified> => {
        const input = JSON.stringify({ secret, headers, body });
        return JSON.parse((await python?.run(['-c', VERIFY], { input })) ?? 'null') as Verified;
    };

    for (const [language, verify] of [
        ['JavaScript', byJavaScript],
        ['Python', byPython],
    ] as const) {
        it(`of ${language}: it is accepted as sent, and refused with another body, id or secret`, async function () {
            if (language === 'Python' && python === undefined) return this.skip();
            const name = 'leaked: "ключ" – 漢字 🔑 \u2028';
            const sent = await deliver(name);
            const verified = await verify(webhook.secret, sent);
            expect(verified).to.have.nested.property('event.type', 'key.revoked');
            expect(verified).to.have.deep.nested.property('event.data', { name });
            const refused = async (secret: string, changed: Partial<Delivery>) =>
                expect(await verify(secret, { ...sent, ...changed })).to.deep.equal({ refused: 'No matching signature found' });
            await refused(webhook.secret, { body: sent.body.replace('leaked', 'lost') });
            await refused(webhook.secret, { headers: { ...sent.headers, 'webhook-id': 'evt_other' } });
            await refused(`whsec_${Buffer.alloc(32, 1).toString('base64')}`, {});
        });

        it(`of ${language}: it is accepted with the old secret and with the new one after a rotation`, async function () {
            if (language === 'Python' && python === undefined) return this.skip();
            const old = webhook.secret;
            ({ secret: webhook.secret } = dataOf<{ secret: string }>(await ada.call('POST', `/v1/webhooks/${webhook.webhook_id}/rotate`)));
            const sent = await deliver('rotated');
            for (const secret of [old, webhook.secret]) {
                expect(await verify(secret, sent)).to.have.nested.property('event.type', 'key.revoked');
            }
        });
    }
});
