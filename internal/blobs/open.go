package blobs

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// Open returns the bucket at an address, file:///FOLDER.
func Open(address string) (Bucket, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return nil, errors.New("want an address such as file:///srv/ycbot-blobs")
	case u.Scheme == "file" && (u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filepath.FromSlash(u.Path)) || u.RawQuery != ""):
		return nil, errors.New("want file:///FOLDER with the whole path of a folder, and nothing behind it")
	case u.Scheme == "file":
		return File{filepath.FromSlash(u.Path)}, nil
	}
	return nil, fmt.Errorf("this program knows no buckets of %s://, only folders (file:///FOLDER)", u.Scheme)
}
