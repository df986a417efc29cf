/** Made by the build: see `world.ts` beside vite's settings, and `World` in `basemap.ts`. */
declare module 'virtual:world' {
  const world: unknown
  export default world
}
