import type { Db } from './db.ts';
import type { Secrets } from './secrets.ts';
import { queueMail } from './store/mails.ts';
import { type NewsMail, takeNews } from './store/workspace-news.ts';

/** Puts the news that may go out now into the outbox. */
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
    const link =
        removalId === null ? [] : [`Stop it here, until then:\n\n${publicUrl}/maintainers/stop/${await stopToken(secrets, removalId)}`];
    return `${[...lines, ...link, `What you maintain: ${publicUrl}/dashboard/schemas`].join('\n\n')}\n`;
}

const PURPOSE = 'stop a removal';

/** What the link that stops a removal carries: its id, and a code that nobody can make without the key ring. */
export async function stopToken(secrets: Secrets, removalId: string): Promise<string> {
    return `${removalId}.${(await secrets.hmac(removalId, PURPOSE)).toString('base64url')}`;
}

/** The removal that a link stops; undefined where the link is none of ours. */
export async function readStopToken(secrets: Secrets, token: string): Promise<string | undefined> {
    const [, removalId = '', code = ''] = /^(rmv_[0-9A-Za-z]{22})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
    const isOurs = removalId !== '' && (await secrets.isHmac(Buffer.from(code, 'base64url'), removalId, PURPOSE));
    return isOurs ? removalId : undefined;
}
