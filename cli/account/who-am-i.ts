import { describeScopes } from '../../shared/domain/scopes-text.ts';
import type { Done, Session } from '../session.ts';
import { lackingCommands } from './lacking-commands.ts';

/** `routebook whoami`: whose key it is, and what is left of plan and credits. */
export async function whoAmI({ client, server, terminal: { paint } }: Session): Promise<Done> {
    const account = await client().account();
    const { plan, workspace_id, user_id, credits, limits, concurrency, key } = account;
    const { balance, allowance, bonus, held, resets_at } = credits;
    const lacking = lackingCommands(key.scopes);
    const row = (name: string, value: string) => `${paint('dim', name.padEnd(10))}  ${value}`;
    return {
        result: { server, ...account, lacking },
        lines: [
            row('server', server),
            row('workspace', `${workspace_id}, ${plan} plan`),
            row('user', user_id),
            row(
                'key',
                `${key.prefix}…${key.name === '' ? '' : ` (${key.name})`}${key.expires_at === null ? '' : `, until ${key.expires_at}`}`,
            ),
            ...describeScopes(key.scopes).map(({ name, words }) => row(name, words)),
            ...(lacking.length === 0 ? [] : [row('lacking', lacking.join(', '))]),
            row(
                'credits',
                `${paint('bold', String(balance))}: ${allowance.remaining} of this month's ${allowance.limit}, ${bonus} bonus, ${held} held`,
            ),
            row('', `the month's allowance comes anew at ${resets_at}`),
            ...limits.map(({ window, limit, remaining, resets_in }) => {
                return row(`per ${window}`, `${remaining} of ${limit} calls left${remaining < limit ? `, anew in ${resets_in} s` : ''}`);
            }),
            row('at once', `${concurrency.in_flight} of ${concurrency.limit} fetches are running`),
        ],
    };
}
