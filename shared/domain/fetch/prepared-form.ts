/** A form that a page of the site held (docs/api.md, "Schema packages"). */
export interface PreparedForm {
    /** Absolute, without fragment; checked before anything is sent there. */
    action: string;
    /** Its fields as the page fills them in, in the order of the page; names may repeat. */
    fields: readonly (readonly [name: string, value: string])[];
}
