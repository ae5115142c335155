import { passwordProblem } from '../../../shared/domain/accounts/password-rules.ts';
import { isCommonPassword } from '../../../shared/platform/passwords/common-passwords.ts';

/** Says in a sentence why a new password is refused. Undefined if it is accepted. */
export function newPasswordProblem(password: string, address: string): string | undefined {
    return passwordProblem(password, address, isCommonPassword);
}
