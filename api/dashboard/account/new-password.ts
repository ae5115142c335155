import { passwordProblem } from '../../../shared/domain/accounts/password-rules.ts';
import { isCommonPassword } from '../../../shared/platform/passwords/common-passwords.ts';

/** What is wrong with a password that somebody chose, as a sentence, or undefined. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
