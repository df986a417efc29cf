/** Pattern of a table name: lower case, at most 63 bytes, so that it needs no quotes anywhere. */
export const IDENTIFIER_PATTERN = '^[a-z][a-z0-9_]{0,62}$'

/** Pattern of a project's reference, which is a label of a host name, too. */
export const PROJECT_REF_PATTERN = '^[a-z0-9][a-z0-9_-]{0,62}$'

/** Pattern of a function's name: the first path segment after `/functions/v1/`. */
export const FUNCTION_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$'
