import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../shared/app.ts';
import { isWellFormedKey, keyHash } from '../../shared/domain/accounts/api-key.ts';
import { EARLIER_SCOPES } from '../../shared/domain/accounts/scopes.ts';
import * as accounts from '../../shared/store/accounts/accounts.ts';

const DEMO_EMAIL = 'demo@routebook.example';

/**
 * The demo account's key: the one kept in DATA_DIR/demo-key (mode 0600) while it works, otherwise a new one. It is the
 * one key that is stored as text, since every start prints it.
 */
export async function demoKey(app: App): Promise<{ apiKey: string; workspaceId: string }> {
    const file = join(app.config.dataDir, 'demo-key');
    const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    const caller = isWellFormedKey(kept) ? await app.keys.find(keyHash(kept)) : undefined;
    if (caller !== undefined) return { apiKey: kept, workspaceId: caller.workspaceId };
    const { apiKey, workspaceId } = await accounts.createAccount(app.db, { email: DEMO_EMAIL, plan: 'free', scopes: EARLIER_SCOPES });
    // A draft from a crash keeps its file mode. A new file ensures that no other user can read the key.
    rmSync(`${file}.new`, { force: true });
    // Renamed into place, so that a crash in between never leaves half a key.
    writeFileSync(`${file}.new`, `${apiKey}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return { apiKey, workspaceId };
}
