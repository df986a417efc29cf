export { buildCity } from './city.ts'
export type { City } from './city.ts'
export type { CityElement, CityTags } from './element.ts'
