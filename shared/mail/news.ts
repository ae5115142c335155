import type { Db } from '../platform/db.ts';
import type { Secrets } from '../platform/secrets.ts';
import { queueMail } from '../store/accounts/mails.ts';
import { type NewsMail, takeNews } from '../store/accounts/workspace-news.ts';

export async function mailNews(db: Db, secrets: Secrets, publicUrl: string): Promise<void> {
    for (;;) {
        const isMailed = await db.transaction(async (trx) => {
            const news = await takeNews(trx);
            if (news === undefined) return false;
            const text = await textOf(news, secrets, publicUrl);
            for (const to of news.recipients) await queueMail(trx, secrets, { to, subject: news.subject, text });
            return true;
        });
        if (!isMailed) return;
    }
}

async function textOf({ lines, removalId }: NewsMail, secrets: Secrets, publicUrl: string): Promise<string> {
    const link = removalId === null ? [] : [await stopLink(secrets, publicUrl, removalId)];
    return `${[...lines, ...link, `What changed in your workspace, and by whom: ${publicUrl}/dashboard/audit`].join('\n\n')}\n`;
}

async function stopLink(secrets: Secrets, publicUrl: string, removalId: string): Promise<string> {
    return `Stop the removal of your workspace before it takes effect:\n\n${publicUrl}/maintainers/stop?token=${await stopToken(secrets, removalId)}`;
}

const PURPOSE = 'stop a removal';

/** The token of the link that stops a removal: the id of the removal, and a MAC by the key ring. */
export async function stopToken(secrets: Secrets, removalId: string): Promise<string> {
    return `${removalId}.${(await secrets.hmac(removalId, PURPOSE)).toString('base64url')}`;
}

/** The id of the removal that a link stops; undefined for an invalid token. */
export async function readStopToken(secrets: Secrets, token: string): Promise<string | undefined> {
    const [, removalId = '', code = ''] = /^(rmv_[0-9A-Za-z]{22})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
    const isOurs = removalId !== '' && (await secrets.isHmac(Buffer.from(code, 'base64url'), removalId, PURPOSE));
    return isOurs ? removalId : undefined;
}
