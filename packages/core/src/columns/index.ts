export { daysOf, microsOf, microsOfDay } from './calendar.ts'
export { fitsColumn } from './fits.ts'
export { encodeNumeric } from './numeric.ts'
