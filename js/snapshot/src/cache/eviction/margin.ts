/** The space kept free for directories that grow and small files that are replaced, in bytes. */
export const MARGIN = 65_536;
