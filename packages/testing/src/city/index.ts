export { buildCity } from './city.ts'
export type { City, CityGround, CityPolygon } from './city.ts'
export type { CityElement, CityTags } from './element.ts'
