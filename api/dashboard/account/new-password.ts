import { passwordProblem } from '../../../shared/domain/accounts/password-rules.ts';
import { isCommonPassword } from '../../../shared/platform/passwords/common-passwords.ts';

/** What is wrong with a chosen password, as a sentence; undefined if nothing is. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
