import { isCancel, password } from '@clack/prompts';
import { isWellFormedKey, keyPrefix } from '../../shared/domain/accounts/api-key.ts';
import { Routebook } from '../client/index.ts';
import { CommandFault } from '../failures.ts';
import { cancelled, type Done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';
import { missingCommands } from './missing-commands.ts';

/** `routebook login`: reads a key from the prompt or stdin, checks it with the server and stores it. Never prints the key. */
export async function logIn({ terminal, settings, server, keys, note }: Session): Promise<Done> {
    const apiKey = terminal.isInteractive ? await askForKey(server) : (await terminal.readAll()).toString().trim();
    if (apiKey === '') throw new CommandFault('API_KEY_REQUIRED', `No key on stdin: pipe it in, as in "${PROGRAM} login < key-file".`);
    if (!isWellFormedKey(apiKey)) {
        throw new CommandFault('INVALID_API_KEY', 'This is not an API key of Routebook, or it is mistyped. Keys begin with rb_live_.');
    }
    const account = await new Routebook({ baseUrl: server, apiKey }).account();
    keys.store(server, apiKey);
    if (settings.apiKey !== undefined) note('! ROUTEBOOK_API_KEY is set and takes precedence over the stored key');
    const { workspace_id, plan, credits, key } = account;
    const missing = missingCommands(key.scopes);
    return {
        ...(missing.length > 0 && { hint: `! this key cannot run: ${missing.join(', ')}` }),
        result: {
            server,
            workspace_id,
            plan,
            credits_balance: credits.balance,
            key_prefix: keyPrefix(apiKey),
            file: keys.file,
            lacking: missing,
        },
        lines: [
            `${terminal.paint('green', '✓')} logged in to ${terminal.paint('bold', server)}: ${plan} plan, ${credits.balance.toLocaleString('en')} ${credits.balance === 1 ? 'credit' : 'credits'}`,
            terminal.paint('dim', `  the key ${keyPrefix(apiKey)}… is stored in ${keys.file}`),
        ],
    };
}

async function askForKey(server: string): Promise<string> {
    const answer = await password({ message: `API key for ${server}`, output: process.stderr });
    if (isCancel(answer)) throw cancelled();
    return answer?.trim() ?? '';
}

/** `routebook logout`: removes the stored key of a server. The key still works until it is revoked. */
export async function logOut({ server, keys, settings, note }: Session): Promise<Done> {
    const wasStored = keys.remove(server);
    if (settings.apiKey !== undefined) note('! ROUTEBOOK_API_KEY is set and is still used');
    return {
        result: { server, removed: wasStored },
        lines: [wasStored ? `The key for ${server} was removed from this machine.` : `No key is stored for ${server}.`],
    };
}
