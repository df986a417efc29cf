/** Made by the build: see `world.ts` beside vite's settings. */
declare module 'virtual:world' {
  const world: import('./basemap.ts').World
  export default world
}
