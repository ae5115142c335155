/** The parts of `redis+sentinel://user:password@h1,h2:26379/name/0`: how to find a Redis primary, and how to connect to it. */
interface SentinelUrl {
    sentinels: { host: string; port: number }[];
    name: string;
    /** The user name at the primary. */
    username: string | undefined;
    password: string | undefined;
    db: number;
    /** The user name at the Sentinels: `?sentinel_username=…&sentinel_password=…`. */
    sentinelUsername: string | undefined;
    sentinelPassword: string | undefined;
    /** `rediss+sentinel:`: TLS to the primary and to the Sentinels. */
    isEncrypted: boolean;
}

const SENTINEL_PORT = 26_379;
const SENTINEL_URL = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d{1,4}))?\/?(?:\?([^#]*))?$/i;
const SENTINEL_HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9]([a-z0-9._-]*[a-z0-9])?))(?::(\d{1,5}))?$/i;
const OPTIONS = ['sentinel_username', 'sentinel_password'];

export function isSentinelUrl(url: string): boolean {
    return /^rediss?\+sentinel:/i.test(url);
}

/** Parses a URL with several hosts, which `URL` rejects; undefined if it is not such a URL. */
export function parseSentinelUrl(url: string): SentinelUrl | undefined {
    const [, scheme = '', user, hosts = '', name = '', db, query = ''] = SENTINEL_URL.exec(url) ?? [];
    const sentinels = hosts.split(',').map(parseSentinel);
    const options = new URLSearchParams(query);
    if (sentinels.includes(undefined) || [...options.keys()].some((option) => !OPTIONS.includes(option))) return undefined;
    const [username, ...password] = user?.split(':') ?? [];
    try {
        return {
            sentinels: sentinels.filter((sentinel) => sentinel !== undefined),
            name: decodeURIComponent(name),
            username: decodeIfSet(username),
            password: decodeIfSet(password.join(':')),
            db: Number(db ?? 0),
            sentinelUsername: options.get('sentinel_username') ?? undefined,
            sentinelPassword: options.get('sentinel_password') ?? undefined,
            isEncrypted: scheme.toLowerCase() === 'rediss',
        };
    } catch {
        // A percent sign is not followed by two hex digits.
        return undefined;
    }
}

function parseSentinel(text: string): { host: string; port: number } | undefined {
    const [whole, ipv6, name, , digits] = SENTINEL_HOST.exec(text) ?? [];
    const port = digits === undefined ? SENTINEL_PORT : Number(digits);
    const host = ipv6 ?? name ?? '';
    if (whole === undefined || port < 1 || port > 65_535 || (ipv6 !== undefined && !URL.canParse(`http://[${ipv6}]`))) return undefined;
    return { host, port };
}

function decodeIfSet(text: string | undefined): string | undefined {
    return text === undefined || text === '' ? undefined : decodeURIComponent(text);
}
