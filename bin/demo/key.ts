import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../shared/app.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { EARLIER_SCOPES } from '../../shared/domain/accounts/scopes.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';

const DEMO_EMAIL = 'demo@routebook.example';

/**
 * The demo account's key: the one in DATA_DIR/demo-key (mode 0600) if it is still valid, otherwise a new one. It is the only key that is
 * stored in clear text, since every start prints it.
 */
export async function demoKey(app: App): Promise<{ apiKey: string; workspaceId: string }> {
    const file = join(app.config.dataDir, 'demo-key');
    const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    const caller = isWellFormedKey(kept) ? await app.keys.find(keyHash(kept)) : undefined;
    if (caller !== undefined) return { apiKey: kept, workspaceId: caller.workspaceId };
    const { apiKey, workspaceId } = await accounts.createAccount(app.db, { email: DEMO_EMAIL, plan: 'free', scopes: EARLIER_SCOPES });
    // A file that a crash left would keep its mode. A new file ensures that no other user can read the key.
    rmSync(`${file}.new`, { force: true });
    // The file is renamed at the end, so a crash never leaves half of a key.
    writeFileSync(`${file}.new`, `${apiKey}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return { apiKey, workspaceId };
}
