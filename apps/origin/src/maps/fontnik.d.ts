declare module 'fontnik' {
  type Done<T> = (error: Error | null, result: T) => void
  export interface Face {
    readonly family_name: string
    readonly style_name: string
    readonly points: readonly number[]
  }
  const fontnik: {
    load(font: Uint8Array, done: Done<readonly Face[]>): void
    range(asked: { readonly font: Uint8Array; readonly start: number; readonly end: number }, done: Done<Buffer>): void
    composite(ranges: readonly Uint8Array[], done: Done<Buffer>): void
  }
  export default fontnik
}
