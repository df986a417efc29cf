import names from './names.json' with { type: 'json' }

/** Names of the streets that run north, by column of the grid from -9 on. */
export const COLUMN_NAMES: readonly string[] = names.columns

/** Names of the streets that run east, by row of the grid from -9 on. */
export const ROW_NAMES: readonly string[] = names.rows

export const TOWN = 'Auenstadt'
export const RIVER = 'Aue'
export const LAKE = 'Grünsee'
