import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { namesCredential } from '../words/harmless.ts';
import { DISPATCHERS } from '../words/is-dispatch.ts';
import type { Exchange } from './exchange.ts';
import { parseJson } from './redact.ts';

/**
 * Why an exchange is not a route of the site, or `undefined`. `what` names its kind, so that a thousand images are one line of the report.
 */
export function noiseOf(exchange: Exchange): { what: string; why: string } | undefined {
    return RULES.find(({ applies }) => applies(exchange));
}

interface Rule {
    what: string;
    why: string;
    applies: (exchange: Exchange) => boolean;
}

const ASSET_RESOURCES: ReadonlySet<string> = new Set(['image', 'font', 'stylesheet', 'script', 'media', 'texttrack', 'manifest']);
const ASSET_TYPES =
    /^(?:image|font|audio|video)\/|^text\/(?:css|javascript|vtt)$|^application\/(?:(?:x-)?javascript|ecmascript|wasm|font-.*|x-font-.*|vnd\.ms-fontobject|manifest\+json|source-map|x-shockwave-flash)$/;
const DOWNLOAD_TYPES =
    /^application\/(?:octet-stream|pdf|zip|gzip|x-(?:gzip|tar|bzip2?|7z-compressed|rar-compressed)|vnd\.(?:openxmlformats|ms-excel|oasis).*|msword|x-protobuf|protobuf|grpc.*|x-msgpack|msgpack|vnd\.apple\.mpegurl|vnd\.mapbox-vector-tile|dash\+xml)$/;
const ASSET_PATHS =
    /\.(?:m?js|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|eot|otf|mp[34]|webm|ogg|wav|wasm|webmanifest|handlebars?|hbs|mustache|tmpl)$/i;
const WELL_KNOWN =
    /\/(?:favicon\.[a-z]+|robots\.txt|manifest\.json|service-?worker[^/]*|sw\.js|browserconfig\.xml|apple-touch-icon[^/]*|ads\.txt|opensearch\.xml|asset-manifest\.json)$|\/\.well-known\//i;
const BUILD_FOLDERS =
    /\/(?:_next\/(?:static|data)|_nuxt|__webpack[^/]*|static\/(?:chunks|media)|_app\/immutable|__manifest|@vite|@fs|@id)(?:\/|$)|\.hot-update\.json$/;
const MEASURING_HOSTS =
    /(?:^|\.)(?:google-analytics|googletagmanager|doubleclick|googlesyndication|googleadservices|analytics\.google|hotjar|segment|mixpanel|amplitude|sentry|datadoghq|newrelic|nr-data|fullstory|clarity|matomo|plausible|posthog|optimizely|quantserve|scorecardresearch|criteo|taboola|outbrain|adnxs|bugsnag|rollbar|logrocket|cloudflareinsights|facebook|connect\.facebook|bat\.bing|snowplowanalytics|heapanalytics|intercom|cookielaw|onetrust|cookiebot|usercentrics|recaptcha|hcaptcha|gstatic)\./i;
const MEASURING_PATHS =
    /\/(?:collect|beacons?|telemetry|pixel|track(?:ing)?|rum|pageviews?|web-?vitals|matomo\.php|piwik\.php|csp-report|error-?report(?:ing)?|envelope|log-?events?|_vercel\/(?:insights|speed-insights)|gen(?:erate)?_204|keep-?alive\.\w+|(?:client|js)-?errors?|cdn-cgi\/.*|gtm|utag)(?:\/|$)/i;
/** Words of counters, measurements and jobs in a path. A site's own API may use them too, so the answer must also be short. */
const MEASURING_WORDS = /\/analytics\/|\/(?:collector|hit|(?:(?:[\w-]*-)?cron|statistics)(?:\.\w+)?)$/i;
/** A report is answered with nothing, or with a word. */
const MAX_RECEIPT = 40;
/** Paths of libraries that use WebSockets or a substitute for them. */
const SOCKETS = /\/(?:signalr|socket\.io|engine\.io|sockjs(?:-node)?|message-bus|cometd|bayeux|faye)\//i;
/** Sites take reports of errors at an address of their own, so that no filter stops them. */
const SENTRY = /^\{[^\n]{0,500}"(?:sent_at|dsn)":[^\n]{0,500}"(?:sdk|dsn|trace)":[^\n]*\n\{"type":/;
/** How much of a body may be the first line of such a report and the beginning of the second. */
const MAX_REPORT_HEAD = 2000;
const SIGNING =
    /(?:^|[/_.-])(?:log|sign)[-_]?(?:in|on|off|out|up)(?:$|[/_.-])|\/(?:oauth2?|sso|saml|authorize|register|forgot[-_]?password|reset[-_]?password|password[-_]?reset)(?:$|[/_.-])/i;

/** Dotted names with commas below the root of calls: `/trpc/boat.list,boat.byId`. */
const JOINED_CALLS = /rpc\/[\w.]+\.\w+(?:,[\w.]+\.\w+)+$/i;

const SIGNING_ACTS = /^(?:(?:log|sign)[-_]?(?:in|on|off|out|up)|register|resendpwd|lost-?password|resetpass(?:word)?|auth(?:enticate)?)$/i;
const PASSWORDS = /^_?(?:pass(?:word|wd|phrase)?|pwd|new_?password|current_?password|wppassword|user_?pass(?:word)?)$/i;
const PROGRAM_TEXTS = /\/(?:assets?|static|dist|build|i18n|langs?|languages?|locales?)\/(?:.*\/)?[^/]+\.(?!html?$|php$|xml$)[a-z\d]{2,5}$/i;
const MAX_BODY = 20_000;

/** A template of a page, loaded by a script from a file. */
function isTemplate({ method, url, resource, requestHeaders, answer }: Exchange): boolean {
    const isByScript = resource === 'xhr' || resource === 'fetch' || /json/.test(requestHeaders.get('accept') ?? '');
    return (
        method === 'GET' &&
        isByScript &&
        /html/.test(answer.type) &&
        /\.html?$/i.test(url.pathname) &&
        !/<(?:html|body)\b/i.test(answer.text?.slice(0, 2000) ?? '')
    );
}

/** Whether the exchange signs a user in or out, by its address, its action or its password. A package cannot repeat it. */
function isSigning({ url, body }: Exchange): boolean {
    if (SIGNING.test(url.pathname) || url.searchParams.has('grant_type')) return true;
    if ([...url.searchParams].some(([name, value]) => DISPATCHERS.test(name) && SIGNING_ACTS.test(value))) return true;
    if (body === undefined || body.text.length > MAX_BODY) return false;
    if (body.type === 'application/x-www-form-urlencoded')
        return [...new URLSearchParams(body.text).keys()].some((name) => PASSWORDS.test(name));
    const value = parseJson(body.text);
    return isObject(value) && (Object.keys(value).some((name) => PASSWORDS.test(name)) || callsSigning(value['method']));
}

/** Whether the method of a remote call signs in or out, such as `auth.login`. */
function callsSigning(method: Json | undefined): boolean {
    return typeof method === 'string' && SIGNING_ACTS.test(method.slice(method.lastIndexOf('.') + 1));
}

/** An answer in JSON is data, even if the suffix is that of a script or an image: `/products/rope.js`. */
function isData({ pathname }: URL, { type }: Exchange['answer']): boolean {
    return /json$/.test(type) && !/\.map$/i.test(pathname);
}

const SESSIONS = /\/auth\/(?:session|csrf|providers|_log|refresh)$|\/(?:csrf|xsrf)(?:[-_]?(?:token|cookie))?$/i;

/** Whether the exchange only concerns the session of the visitor, by its address, or because the answer contains only tokens. */
function isOfSession({ method, url, answer }: Exchange): boolean {
    if (SESSIONS.test(url.pathname)) return true;
    if (!/json/.test(answer.type) || (answer.text?.length ?? 0) > MAX_TOKENS) return false;
    const value = parseJson(answer.text ?? '');
    const fields = isObject(value) ? Object.entries(value) : [];
    const tokens = fields.filter(([name, token]) => typeof token === 'string' && token !== '' && namesCredential(name));
    // A write may return the key of what it created. The token of a session comes with its type and expiry.
    const isGranted = tokens.length < fields.length && fields.every((field) => tokens.includes(field) || OF_TOKENS.test(field[0]));
    return tokens.length > 0 && (isGranted || (method === 'GET' && tokens.length === fields.length));
}

/** Fields beside a token (RFC 6749, section 5.1). */
const OF_TOKENS = /^(?:token_?type|expires(?:_?(?:in|at))?|scope)$/i;
const MAX_TOKENS = 4000;

const RULES: readonly Rule[] = [
    { what: 'Preflights', why: 'browsers send them by themselves', applies: ({ method }) => method === 'OPTIONS' },
    { what: 'Exchanges without an answer', why: 'they were blocked or interrupted', applies: ({ status }) => status <= 0 },
    {
        what: 'Connections that stay open',
        why: 'a draft contains only requests whose answers end, no sockets and no event streams',
        applies: ({ url, status, answer, resource }) =>
            SOCKETS.test(url.pathname) ||
            url.searchParams.has('EIO') ||
            status === 101 ||
            answer.type === 'text/event-stream' ||
            resource === 'websocket' ||
            resource === 'eventsource',
    },
    {
        what: 'Analytics and advertising',
        why: 'they report the visit and return nothing for callers',
        applies: ({ method, url, resource, body, answer }) =>
            MEASURING_HOSTS.test(`${url.hostname}.`) ||
            MEASURING_PATHS.test(url.pathname) ||
            (method === 'POST' && MEASURING_WORDS.test(url.pathname) && (answer.text ?? '').length <= MAX_RECEIPT) ||
            SENTRY.test(body?.text.slice(0, MAX_REPORT_HEAD) ?? '') ||
            resource === 'ping' ||
            resource === 'beacon' ||
            resource === 'csp-violation-report',
    },
    {
        what: 'Scripts, styles, images and fonts',
        why: 'pages only need them to be shown',
        applies: ({ url, resource, answer }) =>
            ASSET_RESOURCES.has(resource ?? '') ||
            ASSET_TYPES.test(answer.type) ||
            (ASSET_PATHS.test(url.pathname) && !isData(url, answer)) ||
            WELL_KNOWN.test(url.pathname),
    },
    {
        what: 'Files of one build of the site',
        why: 'their addresses change with its next release',
        applies: ({ url }) => BUILD_FOLDERS.test(url.pathname),
    },
    {
        what: 'Page data for the framework of the site',
        why: 'only that framework can read it',
        applies: ({ answer, requestHeaders }) => answer.type === 'text/x-component' || requestHeaders.has('next-action'),
    },
    { what: 'Downloads', why: 'the answer is not JSON, a page or a text', applies: ({ answer }) => DOWNLOAD_TYPES.test(answer.type) },
    {
        what: 'Templates and interface texts',
        why: 'a script of the site builds pages from them',
        applies: (exchange) => isTemplate(exchange) || PROGRAM_TEXTS.test(exchange.url.pathname),
    },
    {
        what: 'Several calls in one request',
        why: 'the URL joins their names; each call alone is a route',
        applies: ({ url }) => JOINED_CALLS.test(url.pathname),
    },
    { what: 'Signing in and out', why: 'a package contains no credentials', applies: isSigning },
    { what: 'Sessions and their tokens', why: 'they belong to the visitor, and a package contains no credentials', applies: isOfSession },
    {
        what: 'Requests that return nothing',
        why: 'a GET with params that is answered with 204 reports the visit',
        applies: ({ method, url, status, answer }) =>
            method === 'GET' && url.searchParams.size > 1 && status === 204 && (answer.text ?? '') === '',
    },
    {
        what: 'Pages of administrators',
        why: 'they are not for callers of the site',
        applies: ({ url }) =>
            [...url.searchParams].some(([name, value]) => DISPATCHERS.test(name) && /^admin(?:istrat(?:or|ion))?$/i.test(value)),
    },
    {
        what: 'Redirects',
        why: 'calls follow them; their target is a route',
        applies: ({ method, status }) => (method === 'GET' || method === 'HEAD') && status >= 300 && status < 400 && status !== 304,
    },
    {
        what: 'Requests that need signing in',
        why: 'they were answered with 401 or 403',
        applies: ({ status }) => status === 401 || status === 403 || status === 407,
    },
    { what: 'Requests that failed', why: 'they were answered with an error', applies: ({ status }) => status >= 400 },
    {
        what: 'Requests with another method',
        why: 'a package supports GET, HEAD, POST, PUT, PATCH and DELETE',
        applies: ({ method }) => !/^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method),
    },
];
