/** Where a Redis primary is found, and how it is spoken to, of `redis+sentinel://user:password@h1,h2:26379/name/0`. */
interface SentinelUrl {
    sentinels: { host: string; port: number }[];
    /** Of the primary, as the Sentinels call it. */
    name: string;
    /** Of the primary. */
    username: string | undefined;
    password: string | undefined;
    db: number;
    /** Of the Sentinels: `?sentinel_username=…&sentinel_password=…`. */
    sentinelUsername: string | undefined;
    sentinelPassword: string | undefined;
    /** `rediss+sentinel:`: TLS to the primary and to the Sentinels. */
    isEncrypted: boolean;
}

const SENTINEL_PORT = 26_379;
const WHOLE = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d{1,4}))?\/?(?:\?([^#]*))?$/i;
const SENTINEL = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9]([a-z0-9._-]*[a-z0-9])?))(?::(\d{1,5}))?$/i;
const OPTIONS = ['sentinel_username', 'sentinel_password'];

/** Whether Sentinels say where this Redis is. */
export function isSentinelUrl(url: string): boolean {
    return /^rediss?\+sentinel:/i.test(url);
}

/** Reads a URL with several hosts, which `URL` does not take; undefined if it is none. */
export function parseSentinelUrl(url: string): SentinelUrl | undefined {
    const [, scheme = '', user, hosts = '', name = '', db, query = ''] = WHOLE.exec(url) ?? [];
    const sentinels = hosts.split(',').map(parseSentinel);
    const options = new URLSearchParams(query);
    if (sentinels.includes(undefined) || [...options.keys()].some((option) => !OPTIONS.includes(option))) return undefined;
    const [username, ...password] = user?.split(':') ?? [];
    try {
        return {
            sentinels: sentinels.filter((sentinel) => sentinel !== undefined),
            name: decodeURIComponent(name),
            username: tryDecode(username),
            password: tryDecode(password.join(':')),
            db: Number(db ?? 0),
            sentinelUsername: options.get('sentinel_username') ?? undefined,
            sentinelPassword: options.get('sentinel_password') ?? undefined,
            isEncrypted: scheme.toLowerCase() === 'rediss',
        };
    } catch {
        // A percent sign that encodes nothing.
        return undefined;
    }
}

function parseSentinel(text: string): { host: string; port: number } | undefined {
    const [whole, six, name, , digits] = SENTINEL.exec(text) ?? [];
    const port = digits === undefined ? SENTINEL_PORT : Number(digits);
    const host = six ?? name ?? '';
    if (whole === undefined || port < 1 || port > 65_535 || (six !== undefined && !URL.canParse(`http://[${six}]`))) return undefined;
    return { host, port };
}

function tryDecode(text: string | undefined): string | undefined {
    return text === undefined || text === '' ? undefined : decodeURIComponent(text);
}
