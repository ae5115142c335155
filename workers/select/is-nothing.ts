import { isExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Json } from '../../shared/domain/types.ts';

/** Whether JMESPath considers a value empty or false. In paging this means that there is no next page. */
export function isNothing(value: Json): boolean {
    if (value === null || value === false || value === '') return true;
    return typeof value === 'object' && !isExact(value) && Object.keys(value).length === 0;
}
