export { readCity } from './city.ts'
export type { City, CityElement, CityTags } from './city.ts'
