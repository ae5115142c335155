import { describeScopes } from '../../shared/domain/accounts/scopes-text.ts';
import { formatSeconds } from '../format-seconds.ts';
import type { Done, Session } from '../session.ts';
import { fold } from '../terminal.ts';
import { missingCommands } from './missing-commands.ts';

/** `routebook whoami`: shows the account of the key, its plan and its credits. */
export async function whoAmI({ client, server, terminal: { paint, tableWidth } }: Session): Promise<Done> {
    const account = await client().account();
    const { plan, workspace_id, user_id, credits, limits, concurrency, key } = account;
    const { balance, allowance, bonus, held, resets_at } = credits;
    const missing = missingCommands(key.scopes);
    const width = 'connections'.length;
    const row = (name: string, value: string) => fold(`${paint('dim', name.padEnd(width))}  ${value}`, tableWidth, ' '.repeat(width + 2));
    return {
        result: { server, ...account, lacking: missing },
        lines: [
            row('server', server),
            row('workspace', `${workspace_id}, ${plan} plan`),
            row('user', user_id),
            row(
                'key',
                `${key.prefix}…${key.name === '' ? '' : ` (${key.name})`}${key.expires_at === null ? '' : `, expires ${formatDay(key.expires_at)}`}`,
            ),
            ...describeScopes(key.scopes).map(({ name, words }) => row(name, words)),
            ...(missing.length === 0 ? [] : [row('cannot run', missing.join(', '))]),
            row(
                'credits',
                `${paint('bold', formatNumber(balance))} left: ${formatNumber(allowance.remaining)} of ${formatNumber(allowance.limit)} allowance, ${formatNumber(bonus)} bonus, ${formatNumber(held)} held`,
            ),
            row('', `Allowance resets ${formatDay(resets_at)}`),
            ...limits.map(({ window, limit, remaining, resets_in }) => {
                return row(
                    `per ${window}`,
                    `${formatNumber(remaining)} of ${formatNumber(limit)} calls left${remaining < limit ? `, resets in ${formatSeconds(resets_in)}` : ''}`,
                );
            }),
            row('at once', `${concurrency.in_flight} of ${concurrency.limit} fetches running`),
        ],
    };
}

/** `15,000` */
const formatNumber = (value: number): string => value.toLocaleString('en-US');

/** `23 Dec 2026` @param time ISO 8601 */
const formatDay = (time: string): string => DAY.format(new Date(time));

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
