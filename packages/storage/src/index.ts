export { openStore, within } from './open-store.ts'
export type { AwsSettings } from './open-store.ts'
export { checkHeaders, checkKey, isHeaderValue, upload } from './object-store.ts'
export type {
  ArtifactStore,
  Bucket,
  BucketRules,
  ByteRange,
  ListOptions,
  ListedFolder,
  ListedObject,
  ObjectInfo,
  ObjectStore,
  PutOptions,
  Upload,
} from './object-store.ts'
export { observeStore } from './observed-store.ts'
export { RemoteStore } from './remote-store.ts'
export type { RemoteFetch } from './remote-store.ts'
export { bucketNotFound, objectNotFound, objectTooLarge, storageUnavailable } from './errors.ts'
