/** A form that a page of the site contained (docs/api.md, "Schema packages"). */
export interface PreparedForm {
    /** Absolute URL without fragment. It is checked before anything is sent to it. */
    action: string;
    /** The fields with the values of the page, in the order of the page. Names may repeat. */
    fields: readonly (readonly [name: string, value: string])[];
}
