package blobs

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
)

// Open returns the bucket at an address: file:///FOLDER, or one of a cloud, for which
// [Program] has to be there. It asks no bucket for anything.
func Open(address string) (Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, errors.New("want an address such as file:///srv/ycbot-blobs or s3://BUCKET")
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filepath.FromSlash(u.Path)) || u.RawQuery != "" {
			return nil, errors.New("want file:///FOLDER with the whole path of a folder, and nothing behind it")
		}
		return File{filepath.Clean(filepath.FromSlash(u.Path))}, nil
	case "s3", "gs", "azblob":
		program, err := find()
		if err != nil {
			return nil, fmt.Errorf("%s:// is a bucket of a cloud, for which the program %s has to be beside ycbot or in PATH; ycbot itself stores in folders alone (file:///FOLDER)", u.Scheme, Program)
		}
		return &Cloud{Program: program, Address: address}, nil
	}
	return nil, fmt.Errorf("%s:// is not known: want file:///FOLDER, s3://BUCKET, gs://BUCKET or azblob://CONTAINER", u.Scheme)
}

// find looks for the program that speaks to buckets of clouds.
func find() (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), Program)); err == nil {
			return beside, nil
		}
	}
	return exec.LookPath(Program)
}
