import { InvalidArgumentError } from 'commander';
import { readEmail } from '../../shared/domain/accounts/email.ts';
import { PLAN_NAMES } from '../../shared/domain/accounts/plans.ts';
import type { Scopes } from '../../shared/domain/accounts/scopes.ts';
import { readScopes } from '../../shared/domain/accounts/scopes-text.ts';
import { YANK_REASONS } from '../../shared/domain/package/registry-choices.ts';
import { REQUEST_STATUSES } from '../../shared/domain/site/schema-request.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { collectPaths, readHours, readPace, wholeNumber } from '../../shared/platform/command-line.ts';
import { TOP_DIMENSIONS } from '../../shared/store/usage/usage-report.ts';
import { STARTER_FOLDER } from '../starter-packages.ts';
import * as accounts from './accounts.ts';
import { type AdminCommand, argument, hostNames, idOf, line, option, orDefault, positiveNumber } from './command.ts';
import * as embeddings from './embeddings.ts';
import * as jobs from './jobs.ts';
import * as keys from './keys.ts';
import * as maintenance from './maintenance.ts';
import * as money from './money.ts';
import { AdminFault } from './operator.ts';
import * as registry from './registry.ts';
import * as policy from './site-policy.ts';
import type { SiteName } from './sites.ts';
import * as sites from './sites.ts';
import * as usage from './usage.ts';
import { verify } from './verify.ts';
import * as workspaces from './workspaces.ts';

export const GROUPS: Readonly<Record<string, string>> = {
    account: 'accounts and the people behind them',
    key: 'API keys',
    workspace: 'workspaces, their members and credits',
    plan: 'what a workspace pays and may do',
    credits: 'credits beside the allowance',
    ledger: 'every change of credits',
    site: 'registrable domains and every site on them',
    schema: 'versions of schemas',
    maintainer: 'workspaces that may publish on a domain',
    registry: 'what Routebook itself maintains',
    embeddings: 'ranking of endpoints by meaning',
    request: 'requests for schemas',
    jobs: 'asynchronous calls',
    usage: 'what is called',
    credentials: 'what SECRET_KEYS encrypts',
    audit: 'what operators did',
};

/** About a century. A longer time is probably a typing error. */
const MAX_SECONDS = 3_155_760_000;
const BILLION = 1_000_000_000;

const USER = argument('<user>', 'usr_…', idOf('usr'));
const WORKSPACE = argument('<workspace>', 'wsp_…', idOf('wsp'));
const DOMAIN = argument('<domain>', undefined, readSite);
const SITE = argument('<site>', undefined, readSite);
const VERSION = argument('<version>', undefined, wholeNumber(1, 2_147_483_647));
const OF_WORKSPACE = option('--workspace <id>', 'wsp_…', idOf('wsp')).makeOptionMandatory();
const REASON = option('--reason <text>', 'why', line(500));
const SCOPES = option(
    '--scopes <parts>',
    'what the key may do, as "routes=fetch,catalog effects=read sites=shop.example.com"; everything by default',
    scopesOf,
);
const LISTED = option('--limit <n>', 'maximum rows', wholeNumber(1, 10_000)).default(50);
const OF_JOBS = [
    option('--account <id>', 'who pays: wsp_… or usr_… on Free', idOf('wsp', 'usr')),
    option('--site <site>', undefined, readSite),
    REASON,
];
const ON_PLAN = option('--plan <plan>', 'only workspaces on this plan').choices(PLAN_NAMES);
const LIMITS = [
    option('--per-minute <n>', 'counted calls a minute', wholeNumber(0, BILLION)),
    option('--per-hour <n>', 'counted calls an hour', wholeNumber(0, BILLION)),
    option('--per-day <n>', 'counted calls a day', wholeNumber(0, BILLION)),
    option('--allowance <n>', 'credits a month', wholeNumber(0, BILLION)),
    option('--concurrency <n>', 'fetches at the same time', wholeNumber(0, BILLION)),
    option('--monitors <n>', 'maximum monitors', wholeNumber(0, BILLION)),
];

/** Every command of the operator. `site …` and `maintainer …` act on the registrable domain. */
export const COMMANDS: readonly AdminCommand[] = [
    {
        name: 'account create',
        about: 'create a verified user with a workspace and a key',
        takes: [
            option('--email <address>', 'address of the user', readAddress).makeOptionMandatory(),
            option('--plan <plan>').choices(PLAN_NAMES).default('free'),
            option('--credits <n>', 'bonus credits, on top of the allowance', wholeNumber(0, BILLION)),
            option('--invited-by <user>', 'who invited this new address', idOf('usr')),
            option('--another-workspace', 'the address has an account: create another workspace for it'),
            SCOPES,
            ...LIMITS,
        ],
        work: accounts.create,
    },
    { name: 'account list', about: 'list accounts with their workspaces, newest first', takes: [ON_PLAN, LISTED], work: accounts.list },
    {
        name: 'account find',
        about: 'find accounts by a part of the address, by an id (usr_, wsp_, key_), or by the beginning of a key',
        takes: [argument('<words>', undefined, line(200)), LISTED],
        work: accounts.find,
    },
    { name: 'account suspend', about: 'suspend a user: all keys stop working within a second', takes: [USER], work: accounts.suspend },
    { name: 'account resume', about: 'end the suspension of a user', takes: [USER], work: accounts.resume },
    {
        name: 'account delete',
        about: 'delete a user for good, as the user can in the settings: keys, calls and personal data; schemas and the ledger stay',
        takes: [USER, option('--reason <text>', 'why', line(500)).makeOptionMandatory()],
        work: accounts.remove,
    },
    {
        name: 'account reset-factor',
        about: 'remove all second factors of a user who lost them, and mail the user',
        takes: [USER],
        work: accounts.resetFactor,
    },
    { name: 'workspace list', about: 'list workspaces, newest first', takes: [ON_PLAN, LISTED], work: workspaces.list },
    { name: 'workspace show', about: 'show a workspace: credits, limits, members and sites', takes: [WORKSPACE], work: workspaces.show },
    {
        name: 'key create',
        about: 'create a key and show it, once',
        takes: [
            OF_WORKSPACE,
            option('--user <id>', 'whose key it is; the owner by default', idOf('usr')),
            option('--name <text>', 'what it is for', line(100)).default('admin'),
            option('--expires-in <seconds>', 'how long it works', wholeNumber(1, MAX_SECONDS)),
            SCOPES,
        ],
        work: keys.create,
    },
    { name: 'key list', about: 'list the keys of a workspace', takes: [OF_WORKSPACE], work: keys.list },
    {
        name: 'key revoke',
        about: 'revoke a key; it stops working within a second',
        takes: [argument('<key>', 'key_…', idOf('key'))],
        work: keys.revoke,
    },
    {
        name: 'plan set',
        about: 'set the plan of a workspace, with exactly these limits',
        takes: [WORKSPACE, argument('<plan>').choices(PLAN_NAMES), ...LIMITS],
        work: money.setPlan,
    },
    {
        name: 'credits grant',
        about: 'give credits that never expire to the account that pays for a workspace',
        takes: [WORKSPACE, argument('<n>', 'credits', wholeNumber(1, BILLION))],
        work: money.grant,
    },
    {
        name: 'ledger check',
        about: 'list the accounts whose entries do not sum to their balance',
        takes: [],
        work: money.check,
    },
    {
        name: 'site set',
        about: 'set price, concurrency, rate, OAuth hosts or cookies of a domain',
        takes: [
            DOMAIN,
            option('--credits <n>', 'credits of one unit', wholeNumber(1, 1_000_000)),
            option('--concurrency <n>', 'fetches in flight, or default', orDefault(wholeNumber(1, 1_000_000))),
            option('--rate <n>', 'upstream requests a second, or default', orDefault(positiveNumber(1_000_000))),
            option('--auth-host <names>', 'further hosts that its OAuth may use, separated by commas, or none', hostNames),
            option('--cookies <how>', 'whether connections may hold session cookies').choices(['allow', 'forbid']),
        ],
        problemOf: (options: object) =>
            Object.keys(options).length === 0 ? 'give at least one of --credits, --concurrency, --rate, --auth-host, --cookies' : undefined,
        work: sites.set,
    },
    {
        name: 'site list',
        about: 'list sites, last published first',
        takes: [option('--only <state>').choices(['verified', 'unverified', 'drift', 'blocked']), LISTED],
        work: sites.list,
    },
    { name: 'site show', about: 'show a domain, its sites and who maintains it', takes: [DOMAIN], work: sites.show },
    {
        name: 'site block',
        about: 'block a domain: within a second nothing of it is called, looked up or published',
        takes: [
            DOMAIN,
            option('--reason <text>', 'why', line(500)).makeOptionMandatory(),
            option('--reclaim', 'take back the unspent part of the bonus for its schema, once'),
        ],
        work: sites.block,
    },
    { name: 'site unblock', about: 'end the block of a domain', takes: [DOMAIN, REASON], work: sites.unblock },
    {
        name: 'jobs pause',
        about: 'start no more jobs of an account, of a site, of both together, or of all; running jobs end normally',
        takes: OF_JOBS,
        work: jobs.pause,
    },
    { name: 'jobs resume', about: 'end the pause that was made with the same options', takes: OF_JOBS, work: jobs.resume },
    { name: 'jobs list', about: 'list what is paused', takes: [], work: jobs.list },
    {
        name: 'jobs show',
        about: 'show a job of anybody: its state, what it waits for, the code it ended with',
        takes: [argument('<job>', 'job_…', idOf('job'))],
        work: jobs.show,
    },
    { name: 'site transfer', about: 'make a workspace the only maintainer of a domain', takes: [DOMAIN, WORKSPACE], work: sites.transfer },
    {
        name: 'site policy',
        about: "show the policies of owner and operator, change the operator's, or clear one; the stricter one applies",
        takes: [
            DOMAIN,
            option('--show', 'change nothing (the default)'),
            option('--block', 'as site block; needs --reason'),
            option('--unblock', 'as site unblock'),
            option('--writes <state>', 'whether calls may change the site').choices(['on', 'off']),
            option('--rpm <n>', 'requests a minute of all calls together; "none" is no limit', readPace),
            option('--hours <from-to>', 'when calls are allowed, such as 22:00-06:00', readHours),
            option('--timezone <name>', 'timezone of the hours, such as Europe/Berlin'),
            option('--no-hours', 'allow calls at any time'),
            option('--block-path <host/path>', 'refuse calls of URLs that begin like this; may be repeated', collectPaths),
            option('--unblock-path <host/path>', 'allow such URLs again; may be repeated', collectPaths),
            option('--clear', "delete the operator's policy; a block stays until site unblock"),
            option('--clear-owner', "delete the owner's policy, including its block"),
            REASON,
        ],
        problemOf: policy.contradiction,
        work: policy.changeOrShow,
    },
    {
        name: 'schema yank',
        about: 'take a version out of use',
        takes: [SITE, VERSION, option('--reason <reason>').choices(YANK_REASONS).makeOptionMandatory()],
        work: sites.yank,
    },
    { name: 'schema unyank', about: 'put a yanked version back into use', takes: [SITE, VERSION], work: sites.yank },
    {
        name: 'schema verify',
        about: "call the examples of a site's latest version now, from a worker, and show the findings",
        takes: [SITE],
        work: verify,
    },
    { name: 'maintainer add', about: 'let one more workspace publish on a domain', takes: [SITE, WORKSPACE], work: sites.addMaintainer },
    {
        name: 'maintainer remove',
        about: 'stop a workspace from publishing on a domain, at once',
        takes: [SITE, WORKSPACE],
        work: sites.removeMaintainer,
    },
    {
        name: 'registry load',
        about: 'publish the starter packages for Routebook, or those of a folder or file; skips sites that others own or maintain',
        takes: [
            option('--from <path>', 'a folder of packages, or one package').default(STARTER_FOLDER, 'the shipped ones'),
            option('--only <site...>', 'only these sites', (text, before: SiteName[] = []) => [...before, readSite(text)]),
            option('--verify', 'let workers call their examples soon'),
            option('--dry-run', 'show what would change, and store nothing'),
        ],
        work: registry.load,
    },
    {
        name: 'registry status',
        about: 'list what Routebook maintains: verified, failing or never run, and who else maintains it',
        takes: [],
        work: registry.status,
    },
    {
        name: 'embeddings rebuild',
        about: 'compute the vectors of all endpoints with EMBEDDINGS_MODEL',
        takes: [],
        work: embeddings.rebuild,
    },
    { name: 'embeddings status', about: 'show whether tasks are ranked by meaning too', takes: [], work: embeddings.status },
    {
        name: 'request list',
        about: 'list requests for schemas, newest first',
        takes: [option('--status <status>').choices(REQUEST_STATUSES), LISTED],
        work: registry.listRequests,
    },
    {
        name: 'request set',
        about: 'set the status of a request: open, in_progress, then fulfilled or declined',
        takes: [argument('<request>', 'srq_…', idOf('srq')), option('--status <status>').choices(REQUEST_STATUSES).makeOptionMandatory()],
        work: registry.moveRequest,
    },
    {
        name: 'usage top',
        about: 'list the most called sites or endpoints, or the most active workspaces or users',
        takes: [
            option('--by <what>').choices(TOP_DIMENSIONS).default('site'),
            option('--days <n>', 'how many days back', wholeNumber(1, 90)).default(7),
            LISTED,
        ],
        work: usage.top,
    },
    {
        name: 'usage calls',
        about: 'list the calls of a workspace, newest first: outcome, credits, times, status of the site',
        takes: [
            OF_WORKSPACE,
            option('--request <id>', 'the request_id of an answer, or the id of a job', line(64)),
            option('--site <site>', 'the site as the call named it', line(253)),
            option('--outcome <code>', 'success, failed, or an error code', line(64)),
            LISTED,
        ],
        work: usage.calls,
    },
    {
        name: 'credentials rotate',
        about: 'encrypt long-lived secrets again, with the first key of SECRET_KEYS',
        takes: [],
        work: maintenance.rotate,
    },
    {
        name: 'audit list',
        about: 'list entries, newest first',
        takes: [option('--limit <n>', 'maximum entries', wholeNumber(1, 100_000)).default(100)],
        work: maintenance.listAudit,
    },
];

function readAddress(text: string): string {
    const email = readEmail(text);
    if (email.ok) return email.address;
    throw new InvalidArgumentError(email.message);
}

/** Rejects a second --scopes, which would replace the first one and so allow the key more. */
function scopesOf(text: string, before: Scopes | undefined): Scopes {
    if (before !== undefined) throw new InvalidArgumentError('Give --scopes once, with all its parts in one text.');
    const read = readScopes(text);
    if (read.ok) return read.scopes;
    throw new InvalidArgumentError(read.message);
}

function readSite(text: string): { site: string; registrable: string } {
    const name = normaliseSite(text);
    if (!name.ok) throw new AdminFault('INVALID_DOMAIN', name.message);
    return name;
}
