import type { Readable } from 'node:stream'
import type * as S3 from '@aws-sdk/client-s3'
import { boundedBody, boundedOperation, type Bounds } from './bounds.ts'
import { explain } from './explain.ts'

export interface S3Options {
  /** The S3 bucket that holds everything. */
  readonly bucket: string
  /** Put before every key; ends without a slash. */
  readonly prefix?: string
  /** Base URL of the service, e.g. of MinIO; AWS when absent. */
  readonly endpoint?: string
  readonly region: string
  /** The SDK's default chain (environment, files, web identity, instance role) when absent. */
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  readonly bounds: Bounds
}

/** A client and the commands of its package. */
interface OpenS3 {
  readonly client: S3.S3Client
  readonly sdk: typeof S3
}

/**
 * Sends commands to S3 with timeouts, which the SDK lacks by default. The SDK is loaded at the first command; it
 * retries what its standard mode calls transient (resets, timeouts, 5xx, throttling), with jitter.
 */
export class BoundedS3 {
  readonly #options: S3Options
  #opened: Promise<OpenS3> | null = null

  constructor(options: S3Options) {
    this.#options = options
  }

  /** Runs one operation of small answers. @throws STORAGE_UNAVAILABLE, STORAGE_FAILED, the signal's reason */
  async run<T>(
    operation: string,
    signal: AbortSignal | undefined,
    work: (open: OpenS3, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const within = boundedOperation(this.#options.bounds, signal)
    try {
      return await work(await this.open(), within)
    } catch (error) {
      throw explain(error, operation, signal)
    }
  }

  open(): Promise<OpenS3> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  async #open(): Promise<OpenS3> {
    const sdk = await import('@aws-sdk/client-s3')
    const { endpoint, region, credentials, bounds } = this.#options
    const client = new sdk.S3Client({
      region,
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentials && { credentials }),
      maxAttempts: bounds.attempts,
      // S3-compatible services support neither the checksums that the SDK sends by default nor the ones it expects back.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // socketTimeout is the one that ends a silent server and a body that stalls half-way alike.
      requestHandler: { connectionTimeout: bounds.connectMs, socketTimeout: bounds.idleMs },
    })
    // The SDK reads answers and errors whole, however long they are. Contents of objects are left to the caller.
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const result = await next(args)
        const response = result.response as { statusCode: number; body?: Readable }
        const isContent = context['commandName'] === 'GetObjectCommand' && response.statusCode < 300
        if (response.body && !isContent) response.body = boundedBody(response.body)
        return result
      },
      { step: 'deserialize', priority: 'low', name: 'terraneBoundedAnswers' },
    )
    return { client, sdk }
  }
}
