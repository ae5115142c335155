import type { App } from '../../../shared/app.ts';

/**
 * Whether a new account must confirm its address first, by a mailed link. Without a mail server the links are only in the log, which users
 * cannot read. Then an account works before its address is confirmed.
 */
export function mailsConfirm({ config }: App): boolean {
    return config.mail.smtpUrl !== undefined;
}
