import { DELIVERY_DAYS } from '../domain/events/webhook-bounds.ts';
import { IDLE_DAYS } from './accounts/user-sessions.ts';
import { SITE_EVENT_DAYS } from './events/event-feed.ts';

const HAS_EXPIRED = 'expires_at <= app_now()';
const TODAY = "(app_now() at time zone 'UTC')::date";

function isOlder(column: string, days: number): string {
    return `${column} < app_now() - interval '${days} days'`;
}

const ENDED_GRANTS = `select id from api_keys where resource is not null and ${isOlder('expires_at', 30)}`;

/**
 * Rows that nobody needs any more: a table, and the SQL condition of its old rows. A worker deletes them once an hour, in this order. Jobs,
 * stored answers and results, the request log and the audit log have sweeps of their own.
 */
export const OLD_ROWS: readonly (readonly [table: string, isOld: string])[] = [
    ['web_sessions', HAS_EXPIRED],
    ['web_sessions', isOlder('seen_at', IDLE_DAYS)],
    ['mail_links', HAS_EXPIRED],
    ['workspace_invitations', HAS_EXPIRED],
    ['passkey_challenges', HAS_EXPIRED],
    ['sign_in_tickets', HAS_EXPIRED],
    ['attempts', 'ends_at <= app_now()'],
    ['notices', isOlder('at', 100)],
    // Holds of yesterday may still end.
    ['day_spending', `day < ${TODAY} - 1`],
    ['sign_ups_of_a_day', `day < ${TODAY}`],
    // Like the audit log.
    ['connection_uses', isOlder('hour', 400)],
    // Of processes that died.
    ['connections', "status = 'trial' and created_at < app_now() - interval '10 minutes'"],
    ['claims', `status <> 'proven' and ${HAS_EXPIRED}`],
    // Owners get one mail an hour.
    ['workspace_news', isOlder('mailed_at', 1)],
    ['problem_reports', isOlder('created_at', 90)],
    ['webhook_deliveries', isOlder('created_at', DELIVERY_DAYS)],
    ['events', isOlder('at', DELIVERY_DAYS)],
    ['webhook_hosts', `due_at is null and (holder is null or ${isOlder('held_until', 1)})`],
    ['site_callers', `day < (app_now() - interval '${SITE_EVENT_DAYS} days')::date`],
    // Grants whose code was never exchanged.
    ['api_keys', `resource is not null and id in (select key_id from app_codes where used_at is null and ${isOlder('expires_at', 1)})`],
    ['app_codes', isOlder('expires_at', 1)],
    ['app_refresh_tokens', `key_id in (${ENDED_GRANTS})`],
    ['app_grants', `key_id in (${ENDED_GRANTS})`],
    ['apps', `${isOlder('created_at', 30)} and not exists (select from app_grants g where g.app_id = apps.id)`],
    // Stripe repeats an event for three days.
    ['stripe_events', isOlder('handled_at', 30)],
];
