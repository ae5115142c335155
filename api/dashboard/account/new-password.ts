import { isCommonPassword } from '../../../shared/common-passwords.ts';
import { passwordProblem } from '../../../shared/domain/password-rules.ts';

/** What is wrong with a password that somebody chose, as a sentence, or undefined. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
