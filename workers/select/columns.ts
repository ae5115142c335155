/**
 * Names the columns of a table by its header. A column without a name, or with the name of an earlier column, is named by its place,
 * counted from 1: `column_2`.
 * @returns the name of a column by its place, counted from 0; also of columns that the header does not have
 */
export function nameColumns(header: readonly string[]): (place: number) => string {
    const names: string[] = [];
    const taken = new Set<string>();
    return (wanted) => {
        for (let place = names.length; place <= wanted; place++) {
            const written = header[place]?.trim() ?? '';
            let name = written === '' || taken.has(written) ? `column_${place + 1}` : written;
            while (taken.has(name)) name += '_';
            taken.add(name);
            names.push(name);
        }
        return names[wanted] ?? '';
    };
}
