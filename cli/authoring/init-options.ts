import type { Kind, Method } from '../../shared/domain/types.ts';
import type { DraftPlace } from './write-draft.ts';

/** The flags of `routebook init`. */
export interface InitOptions extends DraftPlace {
    url?: string;
    site?: string;
    title?: string;
    description?: string;
    category?: string;
    name?: string;
    method?: Method;
    kind?: Kind;
    example?: readonly string[];
}
