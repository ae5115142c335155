import type { Config } from '../../../shared/platform/config.ts';
import { openWorld, type World } from '../../support/world.ts';
import { type MailServer, openMailServer } from './mail-server.ts';

/** Opens a world without workers, whose mails go to a mail server of its own. `world.close()` closes both. */
export async function openMailWorld(config: Partial<Config> = {}): Promise<{ world: World; mail: MailServer }> {
    const mail = await openMailServer();
    const settings = { trustProxy: 1, mail: { smtpUrl: mail.url, from: 'Routebook <hello@routebook.example>' } };
    const world = await openWorld({ workers: 0, config: { ...settings, ...config } });
    const close = async () => {
        await world.close();
        await mail.close();
    };
    return { world: { ...world, close }, mail };
}
