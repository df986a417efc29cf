/** Made by the build: see `world.ts` beside vite's settings. */
declare module 'virtual:world' {
  import type { GeometryCollection, Topology } from 'topojson-specification'

  const world: {
    readonly topology: Topology<{ countries: GeometryCollection<{ name: string }>; land: GeometryCollection }>
    /** Name, longitude, latitude, people in thousands; the largest first. */
    readonly towns: readonly (readonly [string, number, number, number])[]
  }
  export default world
}
