import { VERSION } from './version.ts';

/** How we introduce ourselves to sites: name, version, and where their owners learn who we are. */
export function userAgent(publicUrl: string): string {
    return `Routebook/${VERSION} (+${publicUrl}/abuse)`;
}
