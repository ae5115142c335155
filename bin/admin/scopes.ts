import { InvalidArgumentError } from 'commander';
import type { Scopes } from '../../shared/domain/accounts/scopes.ts';
import { readScopes } from '../../shared/domain/accounts/scopes-text.ts';

export const SCOPES_HELP = 'what the key may do, as "routes=fetch,catalog effects=read sites=shop.example.com"; everything by default';

/** Reads the option `--scopes`. */
export function scopesOf(text: string): Scopes {
    const read = readScopes(text);
    if (read.ok) return read.scopes;
    throw new InvalidArgumentError(read.message);
}
