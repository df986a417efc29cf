export { buildCity, cityPbf } from './city.ts'
export type { City, CityGround, CityPolygon } from './city.ts'
