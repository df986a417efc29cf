declare module '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs' {
  interface Decoder {
    getEncodedBuffer(length: number): Uint8Array
    decode(): void
    getDecodedBuffer(): Uint8ClampedArray
  }
  interface Codec {
    readonly JPEGDecoder: new () => Decoder
  }
  export default function load(options: {
    locateFile?: () => string
    print(text: string): void
    printErr(text: string): void
  }): Promise<Codec>
}
