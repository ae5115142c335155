import type { App } from '../../../shared/app.ts';

/**
 * Whether an account begins with the link that confirms its address. Without a mail server links are in the log, which people who sign up
 * do not read: there an account works before its address is confirmed.
 */
export function mailsConfirm({ config }: App): boolean {
    return config.mail.smtpUrl !== undefined;
}
