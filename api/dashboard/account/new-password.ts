import { passwordProblem } from '../../../shared/domain/accounts/password-rules.ts';
import { isCommonPassword } from '../../../shared/platform/passwords/common-passwords.ts';

/** A sentence that says why the password is refused, or undefined. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
